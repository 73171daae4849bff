// A block with a sphere cut out, meshed by threads.
SetFactory("OpenCASCADE");
Box(1) = {0, 0, 0, 1, 1, 1};
Sphere(2) = {0.5, 0.5, 0.5, 0.3};
BooleanDifference{ Volume{1}; Delete; }{ Volume{2}; Delete; }
Mesh.CharacteristicLengthMax = 0.08;
Mesh.Algorithm3D = 10;
General.NumThreads = 2;
