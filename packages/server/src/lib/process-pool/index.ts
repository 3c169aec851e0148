export { type ProcessPool, type ProcessPoolOptions, type RunOptions, processPool } from "./pool.ts";
export { TaskError, type TaskErrorKind } from "./task-error.ts";
