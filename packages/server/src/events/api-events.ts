import type { DescField, DescMessage, DescMethod, Message } from "@bufbuild/protobuf";
import type { Timestamp } from "@bufbuild/protobuf/wkt";
import {
  type Access,
  AccountAssociationSchema,
  ExternalGroupRoleMappingSchema,
  GroupSchema,
  ResourceDeletedSchema,
  TagSchema,
} from "@moorage/api";
import { milliseconds } from "../lib/timestamps.ts";
import { parentOf } from "../lib/uid.ts";
import type { Call } from "../core/call.ts";
import { eventTypes } from "./types.ts";

/** Tells what a call of a method did. `scope`: the uid of what it was done on. */
export type Emit = (call: Call, scope: string, answer: Message) => void;
interface ApiMethod {
  desc: DescMethod;
  access: Access;
}
type Fields = Message & Record<string, unknown>;

/**
 * How each method of the API tells what it did. Absent: it changes nothing, or the room tells it by itself. Source: the
 * option `event`.
 */
export function apiEvents(methods: readonly ApiMethod[]): Map<DescMethod, Emit> {
  const types = eventTypes(methods.map(({ desc }) => desc));
  const found = new Map<DescMethod, Emit>();
  for (const { type, body, methods: emitting, hasOwnBody } of types.values()) {
    for (const { desc, access } of methods) {
      // One that answers something else than the type's body has the room tell of the resource.
      const isTold = !hasOwnBody && emitting.includes(desc) && (body === desc.output || body === ResourceDeletedSchema);
      if (isTold)
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

/** The group that holds a resource of that type: itself, if it is one; empty for what is in none. */
export function groupOf(typeName: string, uid: string): string {
  switch (typeName) {
    case GroupSchema.typeName:
    case AccountAssociationSchema.typeName:
      return uid;
    case TagSchema.typeName:
    case ExternalGroupRoleMappingSchema.typeName:
      // Below a repo, and below an identity provider.
      return parentOf(parentOf(uid));
    default:
      return parentOf(uid);
  }
}

function emitDeleted(type: string, resource: string): Emit {
  return (call, scope) =>
    void call.emit(ResourceDeletedSchema, {
      type,
      subject: scope,
      group: groupOf(resource, scope),
      body: { uid: scope },
    });
}

function emitAnswer(type: string, output: DescMessage, resource: string): Emit {
  if (output.field["uid"] !== undefined) {
    return (call, _scope, answer) => {
      const { uid, updateTime } = answer as Message & { uid: string; updateTime?: Timestamp };
      // What the call changed was changed now.
      if (updateTime !== undefined && milliseconds(updateTime) !== call.nowMs) return;
      call.emit(output, { type, subject: uid, group: groupOf(output.typeName, uid), body: answer });
    };
  }
  const list = output.fields.find((field) => field.fieldKind === "list" && field.message?.field["uid"] !== undefined);
  if (list?.message !== undefined) return emitBatch(type, output, list, list.message);
  return (call, scope, answer) =>
    void call.emit(output, { type, subject: scope, group: groupOf(resource, scope), body: answer });
}

/** One event for each parent: whoever may know of the one group may know nothing of the other. */
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
