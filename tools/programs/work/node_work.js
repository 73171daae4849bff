// The addon from the main thread, from Node's pool, and from worker threads with an instance of Node each.
const { Worker, isMainThread, parentPort, workerData } = require('worker_threads');
const addon = require(isMainThread ? process.argv[2] : workerData);

async function main() {
  const start = process.hrtime.bigint();
  console.log('result dot', addon.dot(1 << 20));
  console.log('result tree', addon.tree(30));
  const jobs = await Promise.all([...Array(12).keys()].map((i) => addon.job(14 + i)));
  console.log('result jobs', jobs.join(' '));
  const workers = await Promise.all([0, 1].map(() => new Promise((resolve, reject) => {
    const worker = new Worker(__filename, { workerData: process.argv[2] });
    worker.on('message', resolve);
    worker.on('error', reject);
  })));
  console.log('result workers', workers.join(' '));
  console.log('time', Number(process.hrtime.bigint() - start) / 1e9);
}

if (isMainThread) main();
else parentPort.postMessage(addon.dot(1 << 18) + addon.tree(24));
