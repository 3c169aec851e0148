// One resource of a file: looked up, compared, and made or changed.
import { textIn } from "../api/json-fields.ts";
import type { JsonObject } from "../api/rest.ts";
import type { PathOf } from "../api/uid-paths.ts";
import { ApiFailure } from "../api/failure.ts";
import { EXIT } from "../command/exit-codes.ts";
import { Failure } from "../command/failure.ts";
import { type Change, changesOf, isWithin, valueAt } from "./compare.ts";
import { type Declared, sentOf } from "./parse.ts";
import { replaced, type UidOf } from "./references.ts";
import { requireValid } from "./rules.ts";
import type { Existing, Server } from "./server.ts";

/** What became of a resource, or would in a dry run. */
export type Action = "created" | "updated" | "unchanged" | "failed" | "skipped" | "deleted" | "kept";

/** What applying one resource came to. */
export interface Outcome {
  readonly action: Action;
  /** Its uid; empty for one that is not there. */
  readonly uid: string;
  readonly changes: readonly Change[];
  /** What is not there yet, in a dry run: so the server was not asked. */
  readonly after?: string;
  /** What the answer alone shows once. */
  readonly secret?: string;
  readonly error?: unknown;
}

/** What applying needs. */
export interface Workings {
  readonly server: Server;
  readonly existing: Existing;
  readonly uidOf: UidOf;
  /** The path of names of a uid, to be shown. */
  readonly pathOf: PathOf;
  readonly isDryRun: boolean;
  /** Whether secrets are sent also where nothing else changes. */
  readonly sendsSecrets: boolean;
  /** How many are declared of the same kind and parent. */
  wantedBeside(declared: Declared): number;
}

/** Makes the resource, changes what differs, or does nothing. Throws what the server says. */
export async function applyOne(workings: Workings, declared: Declared): Promise<Outcome> {
  const { spec, parent: parentPath } = declared;
  const pending: string[] = [];
  const parent = parentPath === "" ? "" : await workings.uidOf([spec.parent], parentPath);
  if (parent === undefined) pending.push(parentPath);
  const fields = await replaced(declared.fields, spec.references, async (kinds, text) => {
    const uid = await workings.uidOf(kinds, text);
    if (uid === undefined) pending.push(text);
    return uid ?? text;
  });
  const isMissing = { action: "created", uid: "", changes: newFields(declared) } as const;
  const there = parent === undefined ? undefined : await findOne(workings, declared, parent, fields);
  if (there !== undefined) return await changeOne(workings, declared, fields, there, pending);
  if (parent === undefined || pending.length > 0) {
    requireValid(spec.message, fields);
    return { ...isMissing, after: [...new Set(pending)].join(", ") };
  }
  const made = await workings.server.call("POST", parent === "" ? spec.path : `${spec.path}/${parent}`, {
    ...asked(workings),
    body: sentOf(fields),
  });
  const secret = textIn(made, "secret");
  return { ...isMissing, uid: workings.isDryRun ? "" : textIn(made, "uid"), ...(secret !== "" && { secret }) };
}

/** The one that is there; undefined for none. Throws a Failure when it is not known which one is meant. */
async function findOne(
  { existing, server, wantedBeside }: Workings,
  declared: Declared,
  parent: string,
  fields: JsonObject,
): Promise<JsonObject | undefined> {
  const { spec, uid, path, label } = declared;
  if (uid !== undefined) return await server.call("GET", `${spec.path}/${uid}`);
  const found = await existing.find(spec, parent, spec.keyOf(fields), wantedBeside(declared));
  const [first, second] = found;
  if (second !== undefined)
    throw new Failure(`there are ${found.length} of ${label}: ${found.map((item) => textIn(item, "uid")).join(", ")}`, {
      hint: "say which one by uid:",
      field: path,
    });
  // Lists leave texts about images out.
  const isPartly = first !== undefined && spec.kind === "repo" && "readme" in fields;
  return isPartly ? await server.call("GET", `${spec.path}/${textIn(first, "uid")}`) : first;
}

async function changeOne(
  workings: Workings,
  { spec, label, fields: own }: Declared,
  fields: JsonObject,
  there: JsonObject,
  pending: readonly string[],
): Promise<Outcome> {
  const uid = textIn(there, "uid");
  const changes = changesOf(spec.message, fields, there);
  const fixed = changes.find((change) => change.isFixed || spec.changes === "never");
  if (fixed !== undefined)
    throw new Failure(`${fixed.path} of ${label} cannot be changed`, {
      exit: EXIT.conflict,
      hint: `delete it to have it made again: ${uid}`,
    });
  const secrets = Object.entries(spec.secrets).filter(
    ([path, needing]) =>
      valueAt(fields, path) !== undefined &&
      (workings.sendsSecrets ||
        changes.some((change) => needing.some((each) => isWithin(each, change.path) || isWithin(change.path, each)))),
  );
  const mask = [...changes.map(({ path }) => path), ...secrets.map(([path]) => path)];
  if (mask.length === 0) return { action: "unchanged", uid, changes: [] };
  const before = await replaced(there, spec.references, (kinds, text) => workings.pathOf(text, kinds[0]));
  const shown = mask.map((path) => ({
    path,
    before: valueAt(before, path),
    after: valueAt(own, path),
    isFixed: false,
  }));
  if (pending.length > 0) return { action: "updated", uid, changes: shown, after: [...new Set(pending)].join(", ") };
  if (spec.changes === "again") {
    // What a tag has beside its digest stays only if it is said again.
    const { name, digest, deprecated, bundles } = { ...there, ...sentOf(fields) } as JsonObject;
    const body = { name: name ?? "", digest: digest ?? "", deprecated: deprecated ?? false, bundles: bundles ?? [] };
    await workings.server.call("POST", `${spec.path}/${uid.slice(0, uid.lastIndexOf("/"))}`, {
      ...asked(workings),
      body,
    });
  } else {
    const without = mask.filter((path) => !mask.some((other) => other !== path && isWithin(path, other)));
    const { query = {} } = asked(workings);
    await workings.server.call("PATCH", `${spec.path}/${uid}`, {
      query: { ...query, updateMask: without.join(",") },
      body: sentOf(fields),
    });
  }
  return { action: "updated", uid, changes: shown };
}

function asked({ isDryRun }: Workings): { query?: { validateOnly: true } } {
  return isDryRun ? { query: { validateOnly: true } } : {};
}

/** All fields, as the file has them. */
function newFields({ fields }: Declared): Change[] {
  return Object.entries(fields)
    .filter(([, after]) => after !== null)
    .map(([path, after]) => ({ path, before: undefined, after, isFixed: false }));
}

/** Whether the server says that somebody else has just made it. */
export function isThereAlready(error: unknown): boolean {
  return error instanceof ApiFailure && error.reason === "ALREADY_EXISTS";
}
