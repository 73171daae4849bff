-- Lmod's module of psthreads. The file is installed as MODULEPATH/psthreads/VERSION.lua, and the line below names the
-- prefix of `make install`.
local prefix = pathJoin("/opt", myModuleFullName())

whatis("Name: psthreads")
whatis("Version: " .. myModuleVersion())
whatis("Description: OpenMP runtime of user-level threads")
help([[
psrun ./program       runs a program that is linked to libgomp or libomp on psthreads
psrun doctor python   says what is replaced
man psrun             its options, and what else there is
]])

if not isDir(pathJoin(prefix, "lib/psthreads/dropin")) then
   LmodError("psthreads: " .. prefix .. " is not there; set prefix in " .. myFileName())
end
prepend_path("PATH", pathJoin(prefix, "bin"))
for _, folder in ipairs({"lib", "lib64"}) do -- as the system calls it
   prepend_path("PKG_CONFIG_PATH", pathJoin(prefix, folder, "pkgconfig"))
end
prepend_path("CMAKE_PREFIX_PATH", prefix)
setenv("PSTHREADS_HOME", prefix)
