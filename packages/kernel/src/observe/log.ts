import { type DestinationStream, type Logger, pino } from "pino";
import type { Config } from "../config/index.ts";
import { textLine } from "./log-text.ts";
import { traceContext } from "./trace-context.ts";
import { withoutSecrets } from "./redact.ts";

/**
 * The log on standard output: a JSON object per line, or readable text, which is the default on a terminal, in color.
 * Lines of a traced request have its `traceId`.
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
  const format = logFormat || (output.isTTY === true ? "text" : "json");
  if (format === "json") return pino(options, output === process.stdout && output.isTTY !== true ? gathered() : output);
  const color = output.isTTY === true && !process.env["NO_COLOR"];
  return pino(options, { write: (line: string) => void output.write(textLine(line, color)) });
}

const GATHERED_BYTES = 8 * 1024;
const LONGEST_WAIT_MS = 200;

// Shared by all servers of the process.
let standard: DestinationStream | undefined;

/**
 * Standard output, written when 8 KiB have collected or 200 ms have passed: a write for every line would take longer
 * than most requests. The rest is written when the process exits normally; a killed process loses at most that much.
 */
function gathered(): DestinationStream {
  if (standard !== undefined) return standard;
  const stream = pino.destination({ dest: 1, sync: false, minLength: GATHERED_BYTES, periodicFlush: LONGEST_WAIT_MS });
  process.once("exit", () => {
    try {
      stream.flushSync();
    } catch {
      // Nothing reads standard output any more, or the stream was never opened.
    }
  });
  standard = stream;
  return stream;
}
