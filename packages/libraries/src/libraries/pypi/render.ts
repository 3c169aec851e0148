import { type BlockedVersion, type Judge, judgeOf, type Shown, shown, wholeBlockOf } from "../policies/judge.ts";
import type { RenderInput, RenderOutput } from "../requests/document.ts";
import { packed } from "../requests/rendering.ts";
import { unpackedRows } from "../requests/rows.ts";
import { wholeOf } from "../upstreams/pieces.ts";
import { isChanged, type OfferedFile, offeredFiles } from "./offer.ts";
import { type SimpleForm, simpleProject } from "./simple-pages.ts";
import type { ProjectKind } from "./upstream-page.ts";
import { newestOf } from "./versions.ts";

/** What the page of a project is rendered from, as plain data. @public in the packed package's declarations. */
export interface PageInput extends RenderInput<ProjectKind> {
  form: SimpleForm;
}

/** Renders the page of a project: what is here and what the upstream lists, without what is blocked. */
export async function renderPage(input: PageInput): Promise<RenderOutput> {
  const { name, form, rows, document } = input;
  const { files: listed } = document === undefined ? { files: [] } : await wholeOf(document);
  const offered = await offeredFiles({ ...unpackedRows(rows), removed: new Set(input.removed) }, listed);
  const changed = offered.filter(isChanged).map(({ version }) => version);
  const judge = await judgeOf(input.judge);
  const judged = shown(judge, offered, ({ facts }) => facts);
  const whole = wholeBlockOf(judged);
  if (whole !== undefined) return { changed, whole };
  const versions = [...new Set(judged.visible.map(({ version }) => version))];
  const text = simpleProject(form, { name, versions, files: judged.visible });
  const blocked = latestBlocked(judge, offered, judged);
  return { changed, rendered: await packed({ text, untilMs: judged.nextMs, blocked }) };
}

/** The version that pip would choose, were it not blocked. */
function latestBlocked(
  judge: Judge,
  offered: readonly OfferedFile[],
  { hidden }: Shown<OfferedFile>,
): BlockedVersion | undefined {
  if (hidden.length === 0) return undefined;
  const latest = newestOf(offered)?.version;
  const open = newestOf(offered.filter(({ facts }) => judge.verdictOn(facts) === undefined))?.version;
  return latest === open ? undefined : hidden.findLast(({ version }) => version === latest);
}
