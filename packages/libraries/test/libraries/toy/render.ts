import { ORIGIN } from "../../../src/libraries/ecosystem/origin.ts";
import { judgeOf, shown, type VersionFacts, wholeBlockOf } from "../../../src/libraries/policies/judge.ts";
import type { RenderInput, RenderOutput } from "../../../src/libraries/requests/document.ts";
import { packed } from "../../../src/libraries/requests/rendering.ts";
import { unpackedRows } from "../../../src/libraries/requests/rows.ts";
import { wholeOf } from "../../../src/libraries/upstreams/pieces.ts";
import { factsOf } from "./facts.ts";
import type { ListKind } from "./tasks.ts";

/** The versions of a toy, one on a line. */
export async function renderList({ rows, document, removed, judge }: RenderInput<ListKind>): Promise<RenderOutput> {
  const { versions } = unpackedRows(rows);
  const offered = document === undefined ? {} : await wholeOf(document);
  const facts = new Map<string, VersionFacts>(
    Object.entries(offered).map(([version, { license, seenMs }]) => [
      version,
      { version, license, origin: ORIGIN.upstream, publishMs: seenMs },
    ]),
  );
  for (const version of removed) facts.delete(version);
  for (const row of versions) facts.set(row.version, factsOf(row));
  if (facts.size === 0) return { empty: true };
  const ordered = [...facts.values()].sort((one, other) => Number(one.version) - Number(other.version));
  const judged = shown(await judgeOf(judge), ordered, (each) => each);
  const whole = wholeBlockOf(judged);
  if (whole !== undefined) return { whole };
  const text = judged.visible.map(({ version }) => `${version}\n`).join("");
  return { rendered: await packed({ text, untilMs: judged.nextMs, blocked: judged.hidden.at(-1) }) };
}
