// What an index asks for what it does not hold, as an upstream here.
import { textIn } from "../api/json-fields.ts";
import type { JsonObject, RestClient } from "../api/rest.ts";
import type { EcosystemHere } from "./artifacts-here.ts";
import type { Here } from "./here.ts";
import { MAX_RESERVED, type PlanItem } from "./plan.ts";
import type { SourceIndex } from "./project-source.ts";
import { faultOfProject, projectPlaceOf } from "./python-names.ts";
import { withoutTrailingSlashes } from "./trailing-slashes.ts";

/** The upstream that a group has for an ecosystem; undefined without one. */
export async function upstreamHere(
  rest: RestClient,
  group: string,
  ecosystem: EcosystemHere,
): Promise<JsonObject | undefined> {
  const query = { "uidp.children_of": group, ecosystem };
  for await (const upstream of rest.list("/libraries/v2/upstreams", "upstreams", { query, pageSize: 1 }))
    return upstream;
  return undefined;
}

/**
 * Plans the upstream of an index. `items`: those of its projects; `isPart`: others of its projects are not to come.
 * What does not come is asked for nowhere else: it would be another project by that name.
 */
export async function planUpstream(
  { into, here, rest }: { into: string; here: Here; rest: RestClient },
  { index: { name, upstream }, isPart }: { index: SourceIndex; isPart: boolean },
  items: readonly PlanItem[],
): Promise<PlanItem[]> {
  if (upstream === undefined) return [];
  const item = { kind: "upstream" as const, source: name, target: `${into}/${name}` };
  if ("fault" in upstream) return [{ ...item, target: "", action: "cannot", why: upstream.fault }];
  const { url, isDisabled, note, ecosystem = "ECOSYSTEM_PYTHON" } = upstream;
  const group = here.groups.get(item.target);
  const ours = group === undefined ? undefined : await upstreamHere(rest, group, ecosystem);
  const known = withoutTrailingSlashes(textIn(ours, "url"));
  if (ours !== undefined && known !== url)
    return [{ ...item, target: "", action: "cannot", why: `the group has the upstream ${known} here` }];
  const left = items.filter(({ kind, action }) => kind === "project" && action === "cannot");
  const names = [...new Set(left.map((each) => projectPlaceOf(each).project))].filter(
    (each) => faultOfProject(each) === undefined,
  );
  const isOver = names.length > MAX_RESERVED;
  const reserved = isOver ? [] : names;
  const disabled = isDisabled || isOver || isPart;
  const why = [
    note,
    isPart ? "disabled, since not all projects of the index are in this plan" : "",
    isOver ? `disabled, since ${names.length} projects do not come, more names than an upstream reserves` : "",
    reserved.length > 0 ? "names of projects that do not come are reserved" : "",
  ];
  const action = ours === undefined ? "create" : "same";
  return [{ ...item, action, why: why.filter((each) => each !== "").join("; "), ecosystem, url, disabled, reserved }];
}
