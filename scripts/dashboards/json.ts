import type { Dashboard, Panel } from "./panels.ts";

const SELECTED = `job=~"$job", instance=~"$instance"`;
const DATASOURCE = { type: "prometheus", uid: "${datasource}" };
// Grafana's grid has 24 columns.
const [COLUMNS, LINES_WIDTH, LINES_HEIGHT, NOW_WIDTH, NOW_HEIGHT] = [24, 8, 8, 4, 4];

/** The JSON of a dashboard, as Grafana imports it. */
export function dashboardJson({ uid, title, about, rows }: Dashboard): string {
  let id = 0;
  let y = 0;
  const panels: object[] = [];
  for (const row of rows) {
    panels.push({
      id: ++id,
      type: "row",
      title: row.title,
      collapsed: false,
      panels: [],
      gridPos: { x: 0, y, w: COLUMNS, h: 1 },
    });
    y += 1;
    let x = 0;
    let height = 0;
    for (const panel of row.panels) {
      const [w, h] = panel.kind === "now" ? [NOW_WIDTH, NOW_HEIGHT] : [LINES_WIDTH, LINES_HEIGHT];
      if (x + w > COLUMNS) [x, y, height] = [0, y + height, 0];
      panels.push({ id: ++id, ...panelJson(panel), gridPos: { x, y, w, h } });
      x += w;
      height = Math.max(height, h);
    }
    y += height;
  }
  const dashboard = {
    uid,
    title,
    description: about,
    tags: ["moorage"],
    schemaVersion: 38,
    version: 1,
    editable: true,
    timezone: "",
    refresh: "1m",
    time: { from: "now-6h", to: "now" },
    graphTooltip: 1,
    links: [
      { type: "dashboards", title: "Moorage", tags: ["moorage"], asDropdown: true, keepTime: true, includeVars: true },
    ],
    annotations: { list: [] },
    templating: { list: variables() },
    panels,
  };
  return `${JSON.stringify(dashboard, undefined, 2)}\n`;
}

function panelJson({ title, kind, unit, queries, about }: Panel): object {
  const targets = queries.map(([expression, legend], at) => ({
    refId: String.fromCharCode(65 + at),
    datasource: DATASOURCE,
    expr: expression.replaceAll("$S", SELECTED),
    legendFormat: legend ?? "__auto",
    instant: kind === "now",
    range: kind === "lines",
  }));
  const common = { title, ...(about !== undefined && { description: about }), datasource: DATASOURCE, targets };
  if (kind === "now")
    return {
      ...common,
      type: "stat",
      fieldConfig: { defaults: { unit }, overrides: [] },
      options: { reduceOptions: { calcs: ["lastNotNull"] }, colorMode: "none", graphMode: "none" },
    };
  return {
    ...common,
    type: "timeseries",
    fieldConfig: { defaults: { unit, min: 0, custom: { fillOpacity: 5, showPoints: "never" } }, overrides: [] },
    options: { legend: { displayMode: "list", placement: "bottom" }, tooltip: { mode: "multi", sort: "desc" } },
  };
}

function variables(): object[] {
  const ofLabel = (name: string, query: string): object => ({
    name,
    type: "query",
    datasource: DATASOURCE,
    query: { query, refId: name },
    refresh: 2,
    multi: true,
    includeAll: true,
    allValue: ".*",
    current: { text: "All", value: "$__all" },
    sort: 1,
  });
  return [
    { name: "datasource", type: "datasource", query: "prometheus" },
    ofLabel("job", "label_values(moorage_build_info, job)"),
    ofLabel("instance", `label_values(moorage_build_info{job=~"$job"}, instance)`),
  ];
}
