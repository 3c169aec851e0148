import type { Message } from "@bufbuild/protobuf";
import { Code, MoorageError } from "@moorage/kernel/errors";

export interface StreamedOptions {
  /** Aborted when the caller disconnects or its deadline passes. */
  signal: AbortSignal;
  /**
   * Aborted when the server starts to shut down: the stream ends with UNAVAILABLE, so that its caller reconnects
   * elsewhere.
   */
  shutdown: AbortSignal;
  /** Cuts the answer off. */
  drop(): void;
  /** Turns an error into the form in which it is answered. */
  toRejection(error: unknown): unknown;
  /** How long a caller may take to receive one message, in milliseconds. */
  stallMs?: number;
}

const STALL_MS = 60_000;

/**
 * The messages of a stream, each made when the one before it has been sent. A caller that receives none for a minute is
 * disconnected, because it may occupy a place that others wait for.
 */
export async function* streamed(
  open: (signal: AbortSignal) => AsyncIterable<Message>,
  options: StreamedOptions,
): AsyncGenerator<Message> {
  const { signal, shutdown, drop, toRejection, stallMs = STALL_MS } = options;
  const ended = new AbortController();
  let stall: NodeJS.Timeout | undefined;
  const end = (reason: unknown): void => {
    // A caller that has disconnected may neither ask for another message nor end the generator.
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
    throw toRejection(error);
  } finally {
    end(undefined);
  }
}
