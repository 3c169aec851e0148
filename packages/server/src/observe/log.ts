import { type DestinationStream, type Logger, pino } from "pino";
import type { Config } from "../config/index.ts";
import { textLine } from "./log-text.ts";
import { traceContext } from "./trace-context.ts";
import { withoutSecrets } from "./redact.ts";

/**
 * The log on standard output: an object a line, or text for people, in colour on a terminal. Lines of a traced request
 * carry its `traceId`.
 */
export function createLog(
  { logLevel, logFormat }: Pick<Config, "logLevel" | "logFormat">,
  output: Pick<NodeJS.WriteStream, "write" | "isTTY"> = process.stdout,
): Logger {
  const options = {
    level: logLevel,
    mixin: (): object => {
      const trace = traceContext.getStore();
      return trace === undefined ? {} : { traceId: trace.traceId };
    },
    serializers: { err: (error: Error) => withoutSecrets(pino.stdSerializers.err(error)) },
  };
  if (logFormat === "json")
    return pino(options, output === process.stdout && output.isTTY !== true ? gathered() : output);
  const colour = output.isTTY === true && !process.env["NO_COLOR"];
  return pino(options, { write: (line: string) => void output.write(textLine(line, colour)) });
}

const GATHERED_BYTES = 8 * 1024;
const LONGEST_WAIT_MS = 200;

// There is one of it, however many servers a process runs.
let standard: DestinationStream | undefined;

/**
 * Standard output, written when 8 KiB have come together or 200 ms have passed: a write for every line takes longer
 * than most requests. What is left is written when the process ends by itself; one that is killed takes at most that
 * much along.
 */
function gathered(): DestinationStream {
  if (standard !== undefined) return standard;
  const stream = pino.destination({ dest: 1, sync: false, minLength: GATHERED_BYTES, periodicFlush: LONGEST_WAIT_MS });
  process.once("exit", () => {
    try {
      stream.flushSync();
    } catch {
      // Nobody reads any more, or the stream was never opened.
    }
  });
  standard = stream;
  return stream;
}
