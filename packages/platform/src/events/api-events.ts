import type { DescField, DescMessage, DescMethod, Message } from "@bufbuild/protobuf";
import type { Timestamp } from "@bufbuild/protobuf/wkt";
import {
  type Access,
  AccountAssociationSchema,
  AdvisoryEventSchema,
  ExternalGroupRoleMappingSchema,
  GroupSchema,
  IdentitySchema,
  PersonalTokenSchema,
  QuotaSchema,
  ResourceDeletedSchema,
  SessionSchema,
  SignatureExemptionSchema,
  TagSchema,
} from "@moorage/api/messages";
import { milliseconds } from "@moorage/kernel/lib/timestamps";
import { parentOf } from "@moorage/kernel/lib/uid";
import type { Call } from "@moorage/kernel/core/call";
import { eventTypes } from "./types.ts";

/** Emits the event of a method's call. `scope`: the uid of the resource that the method acted on. */
export type Emit = (call: Call, scope: string, answer: Message) => void;
interface ApiMethod {
  desc: DescMethod;
  access: Access;
}
type Fields = Message & Record<string, unknown>;

/**
 * How each method of the API emits its event. A method has no entry if it changes nothing, or if its service emits the
 * event. Source: the option `event`.
 */
export function apiEvents(methods: readonly ApiMethod[]): Map<DescMethod, Emit> {
  const types = eventTypes(methods.map(({ desc }) => desc));
  const found = new Map<DescMethod, Emit>();
  for (const { type, body, methods: emitting, hasOwnBody } of types.values()) {
    for (const { desc, access } of methods) {
      // The service emits the event if the method's response is not the event's body.
      const isEmitted =
        !hasOwnBody && emitting.includes(desc) && (body === desc.output || body === ResourceDeletedSchema);
      if (isEmitted)
        found.set(
          desc,
          body === ResourceDeletedSchema
            ? emitDeleted(type, access.resource)
            : emitAnswer(type, desc.output, access.resource),
        );
    }
  }
  return found;
}

/** The group that a resource of that type belongs to: itself if it is a group; empty if it is in none. */
function groupOf(typeName: string, uid: string): string {
  switch (typeName) {
    case GroupSchema.typeName:
    case AccountAssociationSchema.typeName:
    case QuotaSchema.typeName:
      return uid;
    case TagSchema.typeName:
    case ExternalGroupRoleMappingSchema.typeName:
    case AdvisoryEventSchema.typeName:
    case SignatureExemptionSchema.typeName:
    case SessionSchema.typeName:
    case PersonalTokenSchema.typeName:
      // Their parents are a repo, an identity provider, an advisory, a policy and identities.
      return parentOf(parentOf(uid));
    default:
      return parentOf(uid);
  }
}

/** Of a person, who is in no group, the service emits the events, for the group of the person's identity provider. */
const OF_PEOPLE: readonly string[] = [IdentitySchema.typeName, SessionSchema.typeName, PersonalTokenSchema.typeName];

function emitDeleted(type: string, resource: string): Emit {
  return (call, scope) => {
    const group = groupOf(resource, scope);
    if (group === "" && OF_PEOPLE.includes(resource)) return;
    call.emit(ResourceDeletedSchema, { type, subject: scope, group, body: { uid: scope } });
  };
}

function emitAnswer(type: string, output: DescMessage, resource: string): Emit {
  if (output.field["uid"] !== undefined) {
    return (call, _scope, answer) => {
      const { uid, updateTime } = answer as Message & { uid: string; updateTime?: Timestamp };
      // A resource with an earlier update time was not changed by the call.
      if (updateTime !== undefined && milliseconds(updateTime) !== call.nowMs) return;
      const group = groupOf(output.typeName, uid);
      if (group === "" && OF_PEOPLE.includes(output.typeName)) return;
      call.emit(output, { type, subject: uid, group, body: answer });
    };
  }
  const list = output.fields.find((field) => field.fieldKind === "list" && field.message?.field["uid"] !== undefined);
  if (list?.message !== undefined) return emitBatch(type, output, list, list.message);
  return (call, scope, answer) =>
    void call.emit(output, { type, subject: scope, group: groupOf(resource, scope), body: answer });
}

/** One event for each parent, because a recipient may be allowed to see one group and not another. */
function emitBatch(type: string, output: DescMessage, list: DescField, item: DescMessage): Emit {
  return (call, _scope, answer) => {
    const items = (answer as Fields)[list.localName] as { uid: string }[];
    const byParent = Map.groupBy(items, ({ uid }) => parentOf(uid));
    for (const [parent, some] of byParent) {
      const body = { ...answer, [list.localName]: some };
      call.emit(output, { type, subject: parent, group: groupOf(item.typeName, some[0]?.uid ?? ""), body });
    }
  };
}
