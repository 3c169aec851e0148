import type { DescService } from "@bufbuild/protobuf";
import type { Pipeline } from "../../runtime/pipeline.ts";
import type { ErrorLog } from "../status.ts";

export interface RpcHandlerOptions {
  pipeline: Pipeline;
  /** The services to serve, besides health and reflection. None of their methods may stream requests. */
  services: readonly DescService[];
  /** Package prefixes that stand for `moorage` as well, e.g. `acme.platform`. Source: docs/contract.md, "Versions". */
  aliases: readonly string[];
  errorDomain: string;
  log: ErrorLog;
  /** Aborted when the server starts to shut down: health answers NOT_SERVING, watches and streams end. */
  shutdown: AbortSignal;
  /** What keeps the server from being ready; health answers NOT_SERVING then. Defaults to nothing. */
  problem?(): string | undefined;
  maxMessageBytes?: number;
}
