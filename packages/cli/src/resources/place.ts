// Where in the hierarchy a list looks: `uidp` of its request.
import type { Kind, Names } from "../api/names.ts";
import type { Query } from "../api/rest.ts";
import { EXIT } from "../command/exit-codes.ts";
import { Failure, UsageFailure } from "../command/failure.ts";
import type { ServerFlags } from "../command/global-options.ts";
import { namedBy } from "../sign-ins.ts";

/** The flags that say where. */
export interface Place {
  in?: string;
  childrenOf?: string;
  root?: boolean;
}

// What a place may be, the likelier first.
const KINDS_OF_PLACE: Readonly<Record<string, readonly Kind[]>> = {
  tags: ["repo", "group"],
  scans: ["repo", "group"],
  mappings: ["provider", "group"],
  deliveries: ["group", "subscription"],
};

const GROUP_OR_REPO: readonly Kind[] = ["group", "repo"];

/** The parameters for the place of the flags, or of the context's group. `--in /` is everywhere. */
export async function placeQuery(noun: string, flags: Place & ServerFlags, names: Names): Promise<Query> {
  const { childrenOf, root } = flags;
  if ([flags.in, childrenOf, root].filter((each) => each !== undefined).length > 1)
    throw new UsageFailure("a place, --in, --children-of and --root exclude each other");
  if (root === true) return { "uidp.inRoot": true };
  if (childrenOf !== undefined) return { "uidp.childrenOf": await uidOfPlace(noun, childrenOf, names) };
  const place = flags.in ?? namedBy(flags).context?.group;
  return place === undefined || place === "/" ? {} : { "uidp.descendantsOf": await uidOfPlace(noun, place, names) };
}

async function uidOfPlace(noun: string, place: string, names: Names): Promise<string> {
  let first: unknown;
  const kinds = KINDS_OF_PLACE[noun] ?? GROUP_OR_REPO;
  // What has no parent in its name is rather an organization.
  for (const kind of place.includes("/") ? kinds : new Set<Kind>(["group", ...kinds])) {
    try {
      return await names.uidOf(kind, place);
    } catch (error) {
      if (!(error instanceof Failure) || (error.exit !== EXIT.notFound && error.exit !== EXIT.usage)) throw error;
      first ??= error;
    }
  }
  throw first;
}
