import type { DescMethodUnary, Message } from "@bufbuild/protobuf";
import { GroupSchema } from "@moorage/api/messages";
import { Code, MoorageError } from "../errors.ts";
import { type AuditEvent, reasonOf } from "./entry.ts";

/** The fields of a message that the audit log records, if it has them. */
interface Recorded {
  $typeName: string;
  uid?: unknown;
  name?: unknown;
  digest?: unknown;
  identity?: unknown;
  role?: unknown;
}

const MAX_RECORDED = 100;

/**
 * The audit entries of a call of a writing method: one for each resource in its response, or one for its scope if the
 * response has none. `resourceType`: the full name of the message type that the scope names.
 */
export function eventsOf(method: DescMethodUnary, resourceType: string, scope: string, answer: Message): AuditEvent[] {
  const name = `${method.parent.typeName}.${method.name}`;
  const recorded = recordedIn(method, answer);
  if (recorded.length === 0)
    return [
      {
        method: name,
        resource: scope,
        isOrganization: resourceType === GroupSchema.typeName,
        details: detailsOf(answer as Recorded),
      },
    ];
  return recorded.slice(0, MAX_RECORDED).map((item) => {
    const resource = textOf(item.uid);
    const type = resource === scope ? resourceType : item.$typeName;
    return { method: name, resource, isOrganization: type === GroupSchema.typeName, details: detailsOf(item) };
  });
}

function recordedIn({ output }: DescMethodUnary, answer: Message): Recorded[] {
  if (textOf((answer as Recorded).uid) !== "") return [answer];
  const list = output.fields.find((field) => field.fieldKind === "list" && field.message?.field["uid"] !== undefined);
  return list === undefined
    ? []
    : (((answer as Message & Record<string, unknown>)[list.localName] ?? []) as Recorded[]);
}

/** The names in the response, and for a role binding its identity and role. */
function detailsOf({ name, digest, identity, role }: Recorded): Record<string, string> {
  const found = { name: textOf(name), digest: textOf(digest), identity: uidOf(identity), role: uidOf(role) };
  return Object.fromEntries(Object.entries(found).filter(([, text]) => text !== ""));
}

function uidOf(value: unknown): string {
  return typeof value === "object" && value !== null && "uid" in value ? textOf(value.uid) : "";
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}

const REJECTIONS: ReadonlySet<Code> = new Set([Code.PermissionDenied, Code.Unauthenticated]);
const WRITE_REJECTIONS: ReadonlySet<Code> = new Set([
  ...REJECTIONS,
  Code.NotFound,
  Code.FailedPrecondition,
  Code.Aborted,
]);

/**
 * The code and reason of an error that is a rejection. Undefined for other errors. `hides`: NOT_FOUND may stand for a
 * resource that exists but is hidden from the caller. `writes`: the call would have changed something. `rejects`: it is
 * one, whatever its code.
 */
export function rejectionOf(
  error: unknown,
  { hides = false, writes = false, rejects = false }: { hides?: boolean; writes?: boolean; rejects?: boolean },
): { code: number; reason: string } | undefined {
  if (!(error instanceof MoorageError)) return undefined;
  const isRejection =
    rejects || (writes ? WRITE_REJECTIONS : REJECTIONS).has(error.code) || (hides && error.code === Code.NotFound);
  return isRejection ? { code: error.code, reason: reasonOf(error) } : undefined;
}
