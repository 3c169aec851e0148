import { SearchKind } from "@moorage/api/messages";
import { timestamp } from "@moorage/kernel/lib/timestamps";
import { type Found, NEEDS, type Searched } from "./kinds.ts";
import { type Ranged, rowsAfter } from "./ranges.ts";

const ROWS = 500;
const MAX_VALUE = 1_024;
// The index manifests_labelled has those with annotations or labels alone.
const LABELLED: Ranged = {
  table: "manifests",
  columns: "repo, digest, annotations, labels, create_time",
  key: ["repo", "digest"],
  only: "(annotations <> '{}' or labels <> '{}')",
};

interface Labeled {
  repo: string;
  digest: string;
  annotations: string;
  labels: string;
  create_time: number;
}

/** Annotations of manifests and labels of images, by a part of the key or value, or by `key=value`. */
export const searchedLabels: Searched = {
  kind: SearchKind.LABEL,
  needs: NEEDS.manifest,
  rows: ROWS,
  // Their text is read and parsed.
  weight: 10,
  fits: () => true,
  async look({ db, query, roots, paths }, after) {
    const [repo = "", digest = "", key] = after;
    // The manifest that the page before ended in may have more labels: it is read again, as the first one after a
    // beginning of its digest.
    const from = key === undefined ? after : [repo, digest.slice(0, -1)];
    const rows = await rowsAfter<Labeled>(db, LABELLED, roots, from, ROWS);
    const matches = matcherOf(query);
    const found: Found[] = rows.flatMap((row) =>
      Object.entries(labelsOf(row))
        .filter(([name, value]) => matches(name.toLowerCase(), value.toLowerCase()))
        .sort(([one], [other]) => (one < other ? -1 : 1))
        .filter(([name]) => row.repo !== repo || row.digest !== digest || key === undefined || name > key)
        .map(([name, value]) => ({
          result: {
            kind: SearchKind.LABEL,
            repoUid: row.repo,
            digest: row.digest,
            labelKey: name,
            labelValue: value.slice(0, MAX_VALUE),
            updateTime: timestamp(row.create_time),
          },
          position: [row.repo, row.digest, name],
        })),
    );
    const names = await paths.ofUids(found.map(({ position }) => position[0] ?? ""));
    for (const { result, position } of found) result.name = names.get(position[0] ?? "") ?? "";
    const last = rows.at(-1);
    return { found, last: rows.length < ROWS || last === undefined ? undefined : [last.repo, last.digest] };
  },
};

// Where both have a key, the annotation counts: it is the newer form.
function labelsOf({ annotations, labels }: Labeled): Record<string, string> {
  return { ...(JSON.parse(labels) as Record<string, string>), ...(JSON.parse(annotations) as Record<string, string>) };
}

function matcherOf(query: string): (key: string, value: string) => boolean {
  const at = query.indexOf("=");
  const [wantedKey, wantedValue] = [query.slice(0, at), query.slice(at + 1)];
  return (key, value) =>
    key.includes(query) || value.includes(query) || (at > 0 && key === wantedKey && value.includes(wantedValue));
}
