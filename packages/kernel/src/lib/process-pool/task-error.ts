/**
 * Why a task has no answer. `timeout`: it took too long. `memory`: it needed more than a child may have. `died`: the
 * child ended for another reason. `aborted`: the caller did not want it any longer, or the pool stopped. `busy`: too
 * many tasks wait. `failed`: the task threw, and the message is its own.
 */
export type TaskErrorKind = "timeout" | "memory" | "died" | "aborted" | "busy" | "failed";

/** A task of a process pool has no answer. */
export class TaskError extends Error {
  readonly kind: TaskErrorKind;
  /** Whether the task said that it would fail again with the same input. */
  readonly isFinal: boolean;

  constructor(kind: TaskErrorKind, message: string, { isFinal = false }: { isFinal?: boolean } = {}) {
    super(message);
    this.name = "TaskError";
    this.kind = kind;
    this.isFinal = isFinal;
  }
}
