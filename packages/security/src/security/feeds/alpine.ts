import { documentRecords } from "./documents.ts";
import { listAt, objectAt, textAt } from "../records/fields.ts";
import type { Part } from "./parts.ts";
import { problemOf, type Read, recordOf, UnreadableRecord } from "../records/record.ts";
import type { AlpineBody } from "../matching/record-affects.ts";

/** Reads Alpine's secdb, one document for each release and repository. Source: https://secdb.alpinelinux.org. */
export async function* alpineRecords(part: Part): AsyncGenerator<Read> {
  if (part.isWhole || part.name.endsWith(".json")) yield* documentRecords(part, read);
}

function* read(document: unknown): Generator<Read> {
  const secdb = objectAt(document, "the document");
  const release = textAt(secdb["distroversion"], "distroversion");
  const repository = textAt(secdb["reponame"], "reponame");
  if (!Array.isArray(secdb["packages"])) throw new UnreadableRecord("packages: must be a list");
  for (const [at, entry] of secdb["packages"].entries()) {
    const field = `packages[${at}].pkg`;
    try {
      yield* recordsOf(objectAt(objectAt(entry, `packages[${at}]`)["pkg"], field), field, { release, repository });
    } catch (error) {
      yield problemOf(error, field);
    }
  }
}

function* recordsOf(
  pkg: Record<string, unknown>,
  field: string,
  { release, repository }: Pick<AlpineBody, "release" | "repository">,
): Generator<Read> {
  const name = textAt(pkg["name"], `${field}.name`);
  // An entry is an id, and after it other ids of the same vulnerability.
  const found = new Map<string, { fixed: string[]; aliases: Set<string> }>();
  for (const [version, ids] of Object.entries(objectAt(pkg["secfixes"] ?? {}, `${field}.secfixes`)))
    for (const entry of listAt(ids, `${field}.secfixes.${version}`)) {
      const [id = "", ...aliases] = textAt(entry, `${field}.secfixes.${version}`)
        .split(/[\s,()]+/)
        .filter(Boolean);
      const one = found.get(id) ?? { fixed: [], aliases: new Set<string>() };
      if (!one.fixed.includes(version)) one.fixed.push(version);
      for (const alias of aliases) one.aliases.add(alias);
      found.set(id, one);
    }
  for (const [id, { fixed, aliases }] of found) {
    const body: AlpineBody = { release, repository, package: name, id, fixed };
    try {
      yield recordOf(
        {
          id: `${release}/${repository}/${name}/${id}`,
          // The document has no times.
          modified: 0,
          aliases: [id, ...aliases],
          packages: [{ ecosystem: `Alpine:${release}`, name }],
          body: JSON.stringify(body),
        },
        `${field}.secfixes`,
      );
    } catch (error) {
      yield problemOf(error, field);
    }
  }
}
