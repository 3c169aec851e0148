import type { MessageInitShape } from "@bufbuild/protobuf";
import { type ProductVersion, VersionsService } from "@moorage/api/messages";
import type { PackageVersionSchema, Registry } from "@moorage/api/v1/registry";
import { isoTime, milliseconds } from "@moorage/kernel/lib/timestamps";
import type { Translation } from "../service.ts";
import { staleTexts } from "../stale-texts.ts";

const { getPackageVersionMetadata } = VersionsService.method;

/** What feeds say about the versions of products. */
export const versions: Pick<Translation<typeof Registry>, "getPackageVersionMetadata"> = {
  async getPackageVersionMetadata(v2, { package: wanted }) {
    const found = await v2.answer(getPackageVersionMetadata, { package: wanted });
    return {
      eolVersions: found.eolVersions.map((each) => versionMessage(each)),
      lastUpdatedTimestamp: found.updateTime === undefined ? "" : isoTime(milliseconds(found.updateTime)),
      latestVersion: found.latestVersion,
      versions: found.versions.map((each) => versionMessage(each)),
      gracePeriodMonths: found.gracePeriodMonths,
      staleFeeds: staleTexts(found.staleFeeds),
    };
  },
};

/** A release cycle. What feeds do not say is empty. `exists`: whether there is an image of it. */
export function versionMessage(
  { eolDate, lts, releaseDate, version, latestVersion }: ProductVersion,
  { exists = false } = {},
): MessageInitShape<typeof PackageVersionSchema> {
  return {
    eolDate,
    exists,
    fips: false,
    legacyLts: String(lts),
    lts,
    releaseDate,
    version,
    eolBroken: false,
    latestVersion,
    // Feeds say neither the `ref` nor the `sha` of sources.
    versionSource: undefined,
  };
}
