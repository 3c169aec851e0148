import type { TableDeclaration } from "../store/index.ts";

/**
 * What an area is to the rest of the server, declared once in its `area.ts`: whatever goes over all areas loops over
 * the list in areas.ts.
 */
export interface Area {
  /** The name of its folder. */
  readonly name: string;
  /** Its tables. No other area writes them. */
  readonly tables?: Readonly<Record<string, TableDeclaration>>;
}
