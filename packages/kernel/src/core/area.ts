import type { Secrets } from "../lib/secrets.ts";
import type { Database, TableDeclaration } from "../store/index.ts";
import type { Below } from "./call.ts";
import type { RowCheck } from "./row-check.ts";

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
  /** Seals its secrets again that are sealed with an older key, and those that are not sealed. */
  reseal?(tx: Database, secrets: Secrets): Promise<void>;
}
