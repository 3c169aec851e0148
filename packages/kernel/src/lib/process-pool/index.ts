export { type ProcessPool, type ProcessPoolOptions, processPool } from "./pool.ts";
export { TaskError, type TaskErrorKind } from "./task-error.ts";
