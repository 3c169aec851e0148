import type { Call } from "@moorage/kernel/core/call";
import { Code, MoorageError } from "@moorage/kernel/errors";
import { parentOf } from "@moorage/kernel/lib/uid";
import { isRepositoryName } from "./digests.ts";
import { errorAnswer, RegistryError } from "./errors.ts";
import { PUSH } from "./names.ts";
import type { Exchange } from "./request.ts";

/** Groups to which a caller may push, by the paths that the names of images begin with. */
interface PushTargets {
  /** In alphabetical order, ten at most. */
  paths: readonly string[];
  /** How many more there are. */
  more: number;
}

const MAX_SHOWN = 10;
/** Of more, the first by uid are put in order. */
const MAX_LOOKED_AT = 50;
const WRITES = new Set(["POST", "PUT", "PATCH"]);
const FORM = "Image names begin with an organization";

/**
 * The error as it is answered to a push that lacks a right or credentials: it says that names begin with an
 * organization, and which groups the caller may push to, for those who do not know that yet. Clients print the message
 * of such an answer. Other errors are returned as they are.
 */
export async function withPushHint(exchange: Exchange, error: unknown): Promise<unknown> {
  const { req, name, data, deps, callData, caller } = exchange;
  if (!(error instanceof MoorageError) || name === "") return error;
  const isPush = WRITES.has(req.method ?? "");
  if (!isMissingRight(error) && !(isPush && error.code === Code.Unauthenticated)) return error;
  if (!isPush && name.includes("/")) return error;
  const answer = errorAnswer(error, data.requestId);
  if (answer.ociCode === "UNKNOWN") return error;
  const targets =
    isPush && caller.identity !== "" && isAskedFor(exchange)
      ? await deps.transactor.read(callData, pushTargets).catch(() => undefined)
      : undefined;
  return new RegistryError(answer.ociCode, `${error.message}. ${hintOf(exchange, targets)}`, {
    status: answer.status,
    headers: answer.headers,
    detail:
      targets === undefined ? answer.detail : { ...Object(answer.detail), pushTo: targets.paths, more: targets.more },
    details: error.details,
  });
}

/** Whether to name groups: not to a token for another image, which may have been given to somebody else. */
function isAskedFor({ caller, name }: Exchange): boolean {
  const { repositories, refused = [] } = caller;
  if (repositories === undefined || repositories.length === 0) return true;
  return refused.includes(name) || repositories.some((one) => one.name === name);
}

function hintOf({ name }: Exchange, targets: PushTargets | undefined): string {
  const [first] = targets?.paths ?? [];
  const image = name.slice(name.lastIndexOf("/") + 1);
  if (targets === undefined) return `${FORM}, as in ORGANIZATION/${image}`;
  if (first === undefined) return `${FORM}; this identity may push to none`;
  const more = targets.more > 0 ? `, and ${targets.more} more` : "";
  return `${FORM}, as in ${first}/${image}; this identity may push to: ${targets.paths.join(", ")}${more}`;
}

/** The outermost groups that the caller may push to. */
async function pushTargets(call: Call): Promise<PushTargets> {
  const found = (await call.visible(...PUSH)).toSorted();
  const uids = found.slice(0, MAX_LOOKED_AT);
  const lines = uids.map(lineage);
  const all = [...new Set(lines.flat())];
  const rows =
    all.length === 0
      ? []
      : await call.tx.selectFrom("groups").select(["uid", "name"]).where("uid", "in", all).execute();
  const names = new Map(rows.map(({ uid, name }) => [uid, name]));
  const paths = lines
    .map((line) => line.map((uid) => names.get(uid) ?? "").join("/"))
    .filter(isRepositoryName)
    .toSorted();
  // Nobody can push to a group that is gone, or whose name cannot stand in the path of an image.
  const unnamed = uids.length - paths.length;
  return { paths: paths.slice(0, MAX_SHOWN), more: Math.max(0, found.length - unnamed - MAX_SHOWN) };
}

/** The uids of a group and all above it, the organization's first. */
function lineage(uid: string): string[] {
  const line: string[] = [];
  for (let at = uid; at !== ""; at = parentOf(at)) line.unshift(at);
  return line;
}

/** Whether the error says which capability is missing. */
function isMissingRight(error: MoorageError): boolean {
  return error.code === Code.PermissionDenied && error.details.metadata?.["capability"] !== undefined;
}

/**
 * Whether to answer a HEAD as for content that is not there: its caller lacks the right to read there, and may be about
 * to push. An answer to a HEAD has no body, so that clients would end with the bare status; after 404 they begin to
 * push, and print what that is answered with.
 */
export function isLookBeforePush({ req, caller, name }: Exchange, error: MoorageError): boolean {
  if (req.method !== "HEAD" || !isMissingRight(error)) return false;
  return caller.repositories === undefined || caller.refused?.includes(name) === true;
}
