import type { Message } from "@bufbuild/protobuf";
import { Code, MoorageError } from "../../errors.ts";

export interface StreamedOptions {
  /** Given when the caller has left, or its deadline is over. */
  signal: AbortSignal;
  /**
   * Given when the server starts to shut down: the stream ends with UNAVAILABLE, and its caller comes again elsewhere.
   */
  shutdown: AbortSignal;
  /** Cuts the answer off. */
  drop(): void;
  /** The error as it is answered. */
  refuse(error: unknown): unknown;
  /** How long a caller may take for one message, in milliseconds. */
  stallMs?: number;
}

const STALL_MS = 60_000;

/**
 * The answers of a stream, each made when the one before has gone. A caller that takes none for a minute is left
 * behind: it may hold a place for others.
 */
export async function* streamed(
  open: (signal: AbortSignal) => AsyncIterable<Message>,
  options: StreamedOptions,
): AsyncGenerator<Message> {
  const { signal, shutdown, drop, refuse, stallMs = STALL_MS } = options;
  const ended = new AbortController();
  let stall: NodeJS.Timeout | undefined;
  const end = (reason: unknown): void => {
    // Whoever left may never ask for another message, nor end this.
    clearTimeout(stall);
    signal.removeEventListener("abort", leave);
    shutdown.removeEventListener("abort", shut);
    ended.abort(reason);
  };
  const leave = (): void => end(signal.reason);
  const shut = (): void =>
    end(
      new MoorageError(Code.Unavailable, "Unavailable: the server is shutting down", {
        area: "platform",
        retryAfterMs: 1000,
      }),
    );
  signal.addEventListener("abort", leave);
  shutdown.addEventListener("abort", shut);
  if (signal.aborted) leave();
  else if (shutdown.aborted) shut();
  try {
    for await (const message of open(ended.signal)) {
      stall = setTimeout(drop, stallMs).unref();
      yield message;
      clearTimeout(stall);
    }
  } catch (error) {
    throw refuse(error);
  } finally {
    end(undefined);
  }
}
