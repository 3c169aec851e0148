import { createHash } from "node:crypto";
import { correctManifestSize, forgetManifest } from "@moorage/registry/oci";
import type { Database, Row, Store } from "@moorage/kernel/store";
import type { Report } from "../progress.ts";
import { countOf, exportedTable, rowsOf } from "../tables.ts";

type Manifest = Pick<Row<"manifests">, "repo" | "digest" | "content" | "size">;

/** Manifests that do not match their digest or their size. */
export async function* wrongManifests(db: Database, report: Report): AsyncGenerator<{ repo: string; digest: string }> {
  const total = await countOf(db, exportedTable("manifests"));
  let done = 0;
  for await (const batch of rowsOf(db, "manifests")) {
    for (const manifest of batch)
      if (!isRight(manifest) || manifest.size !== manifest.content.byteLength)
        yield { repo: manifest.repo, digest: manifest.digest };
    done += batch.length;
    report.progress({ step: "manifests", done, total, unit: "rows" });
  }
}

function isRight({ digest, content }: Manifest): boolean {
  const [algorithm = ""] = digest.split(":");
  if (algorithm !== "sha256" && algorithm !== "sha512") return false;
  return `${algorithm}:${createHash(algorithm).update(content).digest("hex")}` === digest;
}

/**
 * Corrects the size if the content matches its digest; otherwise removes the manifest, so that its next push brings it
 * back. The tags stay, and the grace period of what it referred to starts again, so that the push finds it.
 */
export async function repairManifest(store: Store, { repo, digest }: { repo: string; digest: string }): Promise<void> {
  await store.transact(async (tx) => {
    const manifest = await tx
      .selectFrom("manifests")
      .select(["repo", "digest", "content", "size"])
      .where("repo", "=", repo)
      .where("digest", "=", digest)
      .executeTakeFirst();
    if (manifest === undefined) return;
    if (isRight(manifest)) await correctManifestSize(tx, repo, digest, manifest.content.byteLength);
    else await forgetManifest(tx, repo, digest, Date.now());
  });
}
