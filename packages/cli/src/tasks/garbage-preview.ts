// `moorage gc --dry-run` of a server: what its next collection would remove.
import { numberIn, objectsIn, textIn } from "../api/json-fields.ts";
import { openRest } from "../api/rest.ts";
import type { Listing } from "../output/listing.ts";
import { garbageText } from "../output/sizes.ts";
import { printReport } from "./report.ts";
import type { TaskFlags } from "./session.ts";

const REPOS: Listing = {
  field: "repos",
  columns: [
    { header: "REPO", flexible: true, value: (repo) => textIn(repo, "name") },
    { header: "TAGS", right: true, value: (repo) => textIn(repo, "tags") },
    { header: "MANIFESTS", right: true, value: (repo) => textIn(repo, "manifests") },
    { header: "BLOBS", right: true, value: (repo) => textIn(repo, "blobs") },
    { header: "BYTES", kind: "bytes", right: true, value: (repo) => textIn(repo, "bytes") },
  ],
  nameOf: (repo) => textIn(repo, "name"),
  idOf: (repo) => textIn(repo, "name"),
};

/** Prints the repos that would free the most, and the sum of all. It takes an operator of the installation. */
export async function printGarbage(flags: TaskFlags): Promise<void> {
  const rest = await openRest({ timeout: "60s", ...flags });
  const preview = await rest.call("GET", "/operations/v2/garbage");
  const repos = objectsIn(preview, "repos");
  await printReport(
    {
      item: preview,
      listing: REPOS,
      async text(pen) {
        const count = numberIn(preview, "repoCount");
        const more =
          count > repos.length ? `the ${repos.length} of ${count} repos that would free the most are shown\n` : "";
        const sum = garbageText({
          tags: numberIn(preview, "tags"),
          manifests: numberIn(preview, "manifests"),
          blobs: numberIn(preview, "blobs"),
          bytes: numberIn(preview, "bytes"),
        });
        return `${await pen.table(REPOS.columns, repos)}${more}would remove ${sum}\n`;
      },
    },
    flags,
  );
}
