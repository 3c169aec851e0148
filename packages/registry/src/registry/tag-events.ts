import { TagChangeSchema } from "@moorage/api/messages";
import type { Call } from "@moorage/kernel/core/call";
import { parentOf } from "@moorage/kernel/lib/uid";

/** Why a tag moved; stored in its history. Source: docs/contract.md, "Tag history". */
export type MoveReason = "push" | "api" | "promote" | "rollback" | "import" | "replicate" | DeleteReason;
/** `mirror`: it moved or was deleted at the registry that is copied. */
export type DeleteReason = "delete" | "retention" | "expire" | "mirror";

/** The body of a tag's event. `bundles` is JSON text. */
export interface TagChange {
  uid: string;
  name: string;
  digest: string;
  previousDigest: string;
  reason: MoveReason;
  deprecated: boolean;
  bundles: string;
}

/** Moves that the server makes by itself; for the others events and the list of moves name the caller. */
export const BY_SYSTEM: ReadonlySet<string> = new Set<MoveReason>(["mirror", "retention", "expire"]);

/** Emits what happened to a tag of the repo. */
export function emitTag(
  call: Call,
  what: "created" | "updated" | "deleted",
  repo: string,
  { bundles, ...tag }: TagChange,
): void {
  call.emit(TagChangeSchema, {
    type: `api.platform.registry.tag.${what}.v1`,
    subject: tag.uid,
    group: parentOf(repo),
    isSystem: BY_SYSTEM.has(tag.reason),
    body: { ...tag, bundles: JSON.parse(bundles) as string[] },
  });
}
