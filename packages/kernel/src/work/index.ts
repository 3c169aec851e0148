// Background work: what wakes it, what does it, and how processes share it.
export { type CountWriter, rowsText, startCountWriter, takeEntries } from "./counting.ts";
export { type Coverage, type CoverageKeeper, coverageIn } from "./coverage.ts";
export { whileHeld } from "./hold.ts";
export { leaseOn } from "./lease.ts";
export { type Queue, queueOn } from "./queue.ts";
export { removeExpired } from "./retention.ts";
export { createTasks, type Tasks } from "./tasks.ts";
export { createWakes, type Wakes } from "./wakes.ts";
export { startWorker, type Worker } from "./worker.ts";
export { yieldToRequests } from "./yield-to-requests.ts";
