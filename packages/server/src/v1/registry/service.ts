import { Registry } from "@moorage/api/v1/registry";
import type { ServiceContext } from "@moorage/kernel/core/service";
import type { Method } from "../../runtime/methods.ts";
import { translated } from "../service.ts";
import { eolTags } from "./end-of-life.ts";
import { imageFields, images } from "./images.ts";
import { manifestMetadata } from "./manifest-metadata.ts";
import { repo, repos } from "./repos.ts";
import { sboms } from "./sbom.ts";
import { syncs } from "./syncs.ts";
import { tagReports } from "./tag-reports.ts";
import { tag, tags } from "./tags.ts";
import { versions } from "./versions.ts";
import { vulnReport } from "./vuln-report.ts";

/** moorage.registry.Registry. */
export function registry(context: Pick<ServiceContext, "readBlob">): [string, Method][] {
  return translated(Registry, [repo, tag, imageFields], {
    ...repos,
    ...tags,
    ...tagReports,
    ...images(context),
    ...manifestMetadata,
    ...syncs,
    ...sboms,
    ...vulnReport,
    ...eolTags,
    ...versions,
  });
}
