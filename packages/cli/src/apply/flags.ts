import type { ServerFlags } from "../command/global-options.ts";
import type { OutputFlags } from "../output/output.ts";

/** The flags of `moorage apply`. */
export interface ApplyFlags extends ServerFlags, OutputFlags {
  file?: string[];
  dryRun?: boolean;
  exitCode?: boolean;
  prune?: boolean;
  pruneRepos?: boolean;
  secrets?: boolean;
  yes?: boolean;
  print?: string;
  tags?: boolean;
}
