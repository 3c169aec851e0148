import { EXIT } from "../command/exit-codes.ts";
import { Failure } from "../command/failure.ts";
import { ItemFailure } from "./item-failure.ts";

/** What the registry that moves in answers, or does not, in words for people. */
export class SourceError extends Failure {
  /** The status that it answered; 0 without one. */
  readonly status: number;
  constructor(message: string, { status = 0, exit = EXIT.unavailable }: { status?: number; exit?: number } = {}) {
    super(message, { exit });
    this.status = status;
  }
}

/** Does what is asked of the source for one item: what it refuses ends that item alone. */
export async function ofItem<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw isOfOne(error) ? new ItemFailure(error.message, { cause: error }) : error;
  }
}

/** Whether an error is about what was asked for, and not about everything else that the registry is asked for, too. */
export function isOfOne(error: unknown): error is SourceError {
  return error instanceof SourceError && error.status !== 429;
}
