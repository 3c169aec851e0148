import { isoTime } from "@moorage/kernel/lib/timestamps";
import { judgeOf } from "../policies/judge.ts";
import type { RenderInput, RenderOutput } from "../requests/document.ts";
import { packed } from "../requests/rendering.ts";
import { unpackedRows } from "../requests/rows.ts";
import { wholeOf } from "../upstreams/pieces.ts";
import { revOf } from "./changes.ts";
import { abbreviated } from "./manifest.ts";
import { type Offered, offeredOf } from "./offer.ts";
import type { PackageKind } from "./upstream-document.ts";

/** The forms of a packument: with all that there is, with what an installation needs, and its tags alone. */
export type Form = "full" | "abbreviated" | "tags";

/** What a packument is rendered from, as plain data. @public in the packed package's declarations. */
export interface PackumentInput extends RenderInput<PackageKind> {
  form: Form;
  /** The URL of the group's packages. */
  url: string;
}

/** Renders a packument. */
export async function renderPackument({
  rows,
  document,
  judge,
  form,
  ...about
}: PackumentInput): Promise<RenderOutput & { changed: string[] }> {
  const sources = {
    ...about,
    ...unpackedRows(rows),
    removed: new Set(about.removed),
    offer: document && (await wholeOf(document)),
  };
  const offered = offeredOf(sources, await judgeOf(judge));
  if (offered === undefined) return { changed: [], empty: true };
  const { changed, whole, nextMs: untilMs, blocked } = offered;
  if (whole !== undefined) return { changed, whole };
  return { changed, rendered: await packed({ text: JSON.stringify(packumentOf(offered, form)), untilMs, blocked }) };
}

const OF_THE_LATEST = [
  "maintainers",
  "author",
  "contributors",
  "repository",
  "bugs",
  "homepage",
  "license",
  "keywords",
];

/** The packument of a package. Source: npm/registry, package-metadata.md. */
function packumentOf(offered: Omit<Offered, "whole" | "changed">, form: Form): object {
  const { name, artifact, tags, versions, description, readme, createdMs, modifiedMs } = offered;
  if (form === "tags") return tags;
  if (form === "abbreviated")
    return {
      name,
      "dist-tags": tags,
      modified: isoTime(modifiedMs),
      versions: Object.fromEntries(versions.map(({ version, manifest }) => [version, abbreviated(manifest)])),
    };
  const latest = versions.find(({ version }) => version === tags["latest"])?.manifest ?? {};
  return {
    _id: name,
    _rev: artifact === undefined ? "0-upstream" : revOf(artifact),
    name,
    description,
    "dist-tags": tags,
    versions: Object.fromEntries(versions.map(({ version, manifest }) => [version, manifest])),
    time: {
      created: isoTime(createdMs),
      modified: isoTime(modifiedMs),
      ...Object.fromEntries(
        versions.flatMap(({ version, facts: { publishMs } }) =>
          publishMs === undefined ? [] : [[version, isoTime(publishMs)]],
        ),
      ),
    },
    ...Object.fromEntries(OF_THE_LATEST.filter((key) => latest[key] !== undefined).map((key) => [key, latest[key]])),
    readme,
  };
}
