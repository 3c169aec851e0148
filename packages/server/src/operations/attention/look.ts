import type { Message } from "@bufbuild/protobuf";
import {
  type Attention,
  AttentionGapReason,
  type AttentionGap,
  type AttentionSubject,
  type Capability,
  CapabilitySchema,
  type UIDPFilter,
} from "@moorage/api/messages";
import { scopeOf } from "@moorage/kernel/aip/scope";
import type { Call } from "@moorage/kernel/core/call";
import { timestamp } from "@moorage/kernel/lib/timestamps";

type Fields<M extends Message> = Partial<Omit<M, keyof Message>>;
export type Subject = Fields<AttentionSubject>;
export type Gap = Fields<AttentionGap>;
/** What was seen of one kind of what needs attention. */
export type Looked = Omit<Fields<Attention>, "kind" | "subjects" | "gaps"> & { subjects?: Subject[]; gaps?: Gap[] };

/** So many of a kind are counted. */
export const MAX_COUNTED = 1_000;
/** So many of a kind are named. */
export const NAMED = 3;
const MAX_DETAIL = 300;

/** The groups in which a caller may look, or what it lacks for that. */
export async function rootsFor(
  call: Call,
  uidp: UIDPFilter | undefined,
  needs: readonly Capability[],
): Promise<{ roots: string[]; lacking: Looked | undefined }> {
  const { roots } = scopeOf(uidp, await call.visible(...needs));
  if (roots.length > 0) return { roots, lacking: undefined };
  const missing = needs.map((need) => CapabilitySchema.value[need]?.name ?? "");
  return { roots, lacking: { gaps: [{ reason: AttentionGapReason.PERMISSION, missing }] } };
}

/** Of so many rows that were read, at most one more than MAX_COUNTED. */
export function countOf(rows: readonly unknown[]): Pick<Looked, "count" | "atLeast"> {
  return { count: BigInt(Math.min(rows.length, MAX_COUNTED)), atLeast: rows.length > MAX_COUNTED };
}

/** What the other side said, as it is answered. */
export function detailOf(text: string): string {
  return text.slice(0, MAX_DETAIL).toWellFormed();
}

/** A time as a field of a message; none where there is none. */
export function timeOf(ms: number | null): Pick<Subject, "time"> {
  return ms === null ? {} : { time: timestamp(Number(ms)) };
}
