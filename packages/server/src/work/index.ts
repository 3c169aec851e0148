// Background work: what wakes it, and what does it.
export { createWakes, type Wakes } from "./wakes.ts";
export { startWorker, type Worker } from "./worker.ts";
