// The Helm chart as an OCI artifact. Source: Helm, "Use OCI-based registries"; its media types are those of HIP-6.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";
import { ROOT } from "../bundle/programs.ts";
import { layoutIn } from "./oci-layout.ts";
import { entriesOf, gzipped, tarOf } from "./tar.ts";
import { releaseTime } from "./time.ts";

const CHART = join(ROOT, "deploy/helm/moorage");

/** Writes the chart into that empty folder, as a layout with the chart's version as the tag. */
export function makeChart(folder: string): void {
  const { name, version, description, ...rest } = parse(readFileSync(join(CHART, "Chart.yaml"), "utf8")) as Record<
    string,
    string
  >;
  const layout = layoutIn(folder);
  const config = layout.add("application/vnd.cncf.helm.config.v1+json", { name, version, description, ...rest });
  const archive = gzipped(tarOf(entriesOf(CHART, name ?? "").filter(({ content }) => content !== undefined)));
  const layer = layout.add("application/vnd.cncf.helm.chart.content.v1.tar+gzip", archive);
  const mediaType = "application/vnd.oci.image.manifest.v1+json";
  const manifest = layout.add(mediaType, {
    schemaVersion: 2,
    mediaType,
    config,
    layers: [layer],
    annotations: {
      "org.opencontainers.image.created": releaseTime(),
      "org.opencontainers.image.title": name,
      "org.opencontainers.image.version": version,
      "org.opencontainers.image.description": description,
    },
  });
  layout.finish(manifest, version ?? "");
}
