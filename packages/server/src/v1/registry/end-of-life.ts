import type { MessageInitShape } from "@bufbuild/protobuf";
import { type EolTag as V2EolTag, EolTagsService, EolTagStatus as V2Status } from "@moorage/api/messages";
import {
  EolGracePeriodStatus as Grace,
  type EolTagSchema,
  EolTagStatus,
  type Registry,
} from "@moorage/api/v1/registry";
import type { Translation } from "../service.ts";
import { pageSizeOf } from "../v2.ts";
import { excludes } from "./tag-names.ts";
import { staleTexts } from "../stale-texts.ts";
import { versionMessage } from "./versions.ts";

const STATUSES: Readonly<Record<V2Status, EolTagStatus>> = {
  [V2Status.UNSPECIFIED]: EolTagStatus.TAG_ACTIVE,
  [V2Status.IN_GRACE]: EolTagStatus.TAG_IN_GRACE,
  [V2Status.INACTIVE]: EolTagStatus.TAG_INACTIVE,
};

/** The tags whose product is past its end of life, in pages. */
export const eolTags: Pick<Translation<typeof Registry>, "listEolTags"> = {
  async listEolTags(v2, { uidp, name, pageToken, pageSize, excludeDates, excludeEpochs }) {
    const asked = { ...(uidp && { uidp }), name, pageToken, pageSize: pageSizeOf(pageSize) };
    const { eolTags: page, nextPageToken, staleFeeds } = await v2.answer(EolTagsService.method.listEolTags, asked);
    const isExcluded = excludes({ excludeReferrers: false, excludeDates, excludeEpochs });
    return {
      items: page.filter((each) => !isExcluded(each.name)).map(eolTag),
      nextPageToken,
      staleFeeds: staleTexts(staleFeeds),
    };
  },
};

function eolTag({
  uid: id,
  name,
  product,
  status,
  release,
  graceExpireTime,
}: V2EolTag): MessageInitShape<typeof EolTagSchema> {
  return {
    id,
    name,
    mainPackageName: product,
    tagStatus: STATUSES[status],
    // There is a tag with it.
    ...(release && { mainPackageVersion: versionMessage(release, { exists: true }) }),
    graceStatus: graceOf(status, graceExpireTime !== undefined),
    ...(graceExpireTime && { gracePeriodExpiryDate: graceExpireTime }),
  };
}

/** Without a day of the end of life there is no grace after it. */
function graceOf(status: V2Status, hasEnd: boolean): Grace {
  if (status === V2Status.IN_GRACE) return Grace.GRACE_ACTIVE;
  return hasEnd ? Grace.GRACE_EXPIRED : Grace.GRACE_NOT_ELIGIBLE;
}
