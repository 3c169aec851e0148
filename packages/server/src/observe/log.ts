import { type Logger, pino } from "pino";
import { textLine } from "./log-text.ts";
import { traceContext } from "./trace-context.ts";
import { withoutSecrets } from "./secrets.ts";

export interface LogConfig { logLevel: string; logFormat: "json" | "text" }

/** The log on standard output: an object a line, or text for people, in colour on a terminal. Lines of a traced request carry its `traceId`. */
export function createLog({ logLevel, logFormat }: LogConfig, output: Pick<NodeJS.WriteStream, "write" | "isTTY"> = process.stdout): Logger {
  const options = {
    level: logLevel,
    mixin: (): object => {
      const trace = traceContext.getStore();
      return trace === undefined ? {} : { traceId: trace.traceId };
    },
    serializers: { err: (error: Error) => withoutSecrets(pino.stdSerializers.err(error)) },
  };
  if (logFormat === "json") return output === process.stdout ? pino(options) : pino(options, output);
  const colour = output.isTTY === true && !process.env["NO_COLOR"];
  return pino(options, { write: (line: string) => void output.write(textLine(line, colour)) });
}
