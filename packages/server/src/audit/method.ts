import type { DescMethodUnary, Message } from "@bufbuild/protobuf";
import { GroupSchema } from "@moorage/api";
import { Code, MoorageError } from "../errors.ts";
import { type AuditEvent, reasonOf } from "./entry.ts";

/** A message that has what the log wants to know, if it is there. */
interface Thing {
  $typeName: string;
  uid?: unknown;
  name?: unknown;
  digest?: unknown;
  identity?: unknown;
  role?: unknown;
}

const MOST_THINGS = 100;

/**
 * What a writing method did, to be written with it: an entry for the resource that it answers, for each of several, or
 * for its scope. None for a call that was to change nothing. `resourceType`: the full name of the message that the
 * scope names.
 */
export function eventsOf(
  method: DescMethodUnary,
  resourceType: string,
  scope: string,
  request: Message,
  answer: Message,
): AuditEvent[] {
  if ((request as { validateOnly?: unknown }).validateOnly === true) return [];
  const name = `${method.parent.typeName}.${method.name}`;
  const things = thingsIn(method, answer);
  if (things.length === 0)
    return [{ method: name, resource: scope, isOrganization: resourceType === GroupSchema.typeName }];
  return things.slice(0, MOST_THINGS).map((thing) => {
    const resource = textOf(thing.uid);
    const type = resource === scope ? resourceType : thing.$typeName;
    return { method: name, resource, isOrganization: type === GroupSchema.typeName, details: detailsOf(thing) };
  });
}

function thingsIn({ output }: DescMethodUnary, answer: Message): Thing[] {
  if (textOf((answer as Thing).uid) !== "") return [answer];
  const list = output.fields.find((field) => field.fieldKind === "list" && field.message?.field["uid"] !== undefined);
  return list === undefined ? [] : (((answer as Message & Record<string, unknown>)[list.localName] ?? []) as Thing[]);
}

/** Names that were taken in, and who was given what. */
function detailsOf({ name, digest, identity, role }: Thing): Record<string, string> {
  const found = { name: textOf(name), digest: textOf(digest), identity: uidOf(identity), role: uidOf(role) };
  return Object.fromEntries(Object.entries(found).filter(([, text]) => text !== ""));
}

function uidOf(value: unknown): string {
  return typeof value === "object" && value !== null && "uid" in value ? textOf(value.uid) : "";
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}

const REFUSALS: ReadonlySet<Code> = new Set([Code.PermissionDenied, Code.Unauthenticated]);
const WRITE_REFUSALS: ReadonlySet<Code> = new Set([...REFUSALS, Code.NotFound, Code.FailedPrecondition, Code.Aborted]);

/**
 * The refusal that an error is, if it is one. `hides`: NOT_FOUND is said of what may be there. `writes`: it was to
 * change something, which then it did not.
 */
export function rejectionOf(
  error: unknown,
  { hides = false, writes = false }: { hides?: boolean; writes?: boolean },
): { code: number; reason: string } | undefined {
  if (!(error instanceof MoorageError)) return undefined;
  const isRejection = (writes ? WRITE_REFUSALS : REFUSALS).has(error.code) || (hides && error.code === Code.NotFound);
  return isRejection ? { code: error.code, reason: reasonOf(error) } : undefined;
}
