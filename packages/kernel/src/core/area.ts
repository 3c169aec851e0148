import type { Secrets } from "../lib/secrets.ts";
import type { Database, TableDeclaration } from "../store/index.ts";
import type { Below } from "./call.ts";
import type { Command } from "./command.ts";
import type { Job, JobContext } from "./job.ts";
import type { AreaMetrics } from "./metrics.ts";
import type { RowCheck } from "./row-check.ts";
import type { ServedService, TermsDocument } from "./service.ts";

/** What the commands of areas get beside their call and input, the same in every thread that runs transactions. */
export interface AreaContext {
  secrets: Secrets;
  /** Uids of identities that may create organizations. */
  admins: readonly string[];
  /** The documents that can be accepted. */
  terms: readonly TermsDocument[];
  /** The uid of the first organization, where what happens to the installation is recorded. Defaults to none. */
  organization?: string | undefined;
}

/**
 * What an area is to the rest of the server, declared once in its `area.ts`: whatever goes over all areas loops over
 * the list in areas.ts.
 */
export interface Area {
  /** The name of its folder. */
  readonly name: string;
  /** Its tables. No other area writes them. */
  readonly tables?: Readonly<Record<string, TableDeclaration>>;
  /** What it keeps below resources of other areas. */
  readonly below?: Below;
  /**
   * The checks of its rows, in the order in which they are repaired, so that later checks also find what the repairs of
   * earlier ones cause.
   */
  readonly checks?: readonly RowCheck[];
  /** The services of the API that it implements. */
  readonly services?: readonly ServedService[];
  /** Its writes. */
  readonly commands?: readonly Command<never, unknown, AreaContext>[];
  /** What one process does periodically for the whole installation. */
  jobs?(context: JobContext): readonly Job[];
  /** What it has on `/metrics`. */
  readonly metrics?: readonly AreaMetrics<unknown>[];
  /** Seals its secrets again that are sealed with an older key, and those that are not sealed. */
  reseal?(tx: Database, secrets: Secrets): Promise<void>;
}
