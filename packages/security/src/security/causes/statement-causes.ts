import type { Call } from "@moorage/kernel/core/call";
import { parsedPurl } from "@moorage/kernel/lib/purls";
import { newUid } from "@moorage/kernel/lib/uid";
import type { Row } from "@moorage/kernel/store";
import { noteImageChange } from "./image-cause.ts";
import { imageNameIn } from "../vex/trust.ts";

/** What a cause of the kind `statement` is about, as JSON in its `subject`. */
export interface StatedCause {
  /** The key of images, or of packages. */
  key: string;
  /** Of packages: the ids of the vulnerabilities. */
  ids: string[];
}

const ROWS = 200;

/**
 * Notes that a feed says something else than before, by the statements that it made or took back. See FindingCause. For
 * commands that have locked the catalogs, since it begins again with images that wait to be found.
 */
export async function noteStatementChange(
  call: Pick<Call, "tx" | "nowMs" | "wake">,
  changed: readonly Pick<Row<"feed_statements">, "key" | "ids" | "product">[],
): Promise<void> {
  const digests = new Set<string>();
  const names = new Set<string>();
  const packages = new Map<string, Set<string>>();
  for (const { key, ids, product } of changed) {
    if (imageNameIn(key) !== undefined) {
      const version = parsedPurl(product)?.version ?? "";
      if (version.includes(":")) digests.add(version);
      else names.add(key);
      continue;
    }
    const about = packages.get(key) ?? new Set();
    for (const id of JSON.parse(ids) as string[]) about.add(id);
    packages.set(key, about);
  }
  for (const digest of digests) await noteImageChange(call, digest);
  const rows = [
    // Which of the images hold what it is about is seen when they are looked at.
    ...[...names].map((key) => ({ id: `statement ${key}`, subject: { key, ids: [] } satisfies StatedCause })),
    ...[...packages].map(([key, ids]) => ({ id: newUid(""), subject: { key, ids: [...ids] } satisfies StatedCause })),
  ].map(({ id, subject }) => ({
    id,
    kind: "statement",
    subject: JSON.stringify(subject),
    scope: "",
    position: "",
    create_time: call.nowMs,
  }));
  for (let at = 0; at < rows.length; at += ROWS)
    await call.tx
      .insertInto("finding_causes")
      .values(rows.slice(at, at + ROWS))
      .onConflict((conflict) => conflict.column("id").doUpdateSet({ position: "" }))
      .execute();
}
