import type { Call, StoredImage } from "@moorage/kernel/core/call";
import { statement } from "@moorage/kernel/store";
import { noteImageChange } from "../causes/image-cause.ts";
import { CATALOG_STATE } from "./rows.ts";

// An image that is read already keeps its catalog. Its row is locked all the same, so that the catalog is not
// removed as that of an image which no repo holds.
const addCatalog = statement<{ state: number }>(
  `insert into image_catalogs (digest, state, backlog, attempts, reason, holder, hold_until, os_id, os_version, os_name, unread, create_time)
   values (?, ${CATALOG_STATE.waiting}, 0, 0, '', '', 0, '', '', '', '[]', ?)
   on conflict (digest) do update set backlog = 0 where image_catalogs.backlog = 1 returning state`,
);

/** Notes that the image's packages are to be read, unless they have been: then its findings are new in this repo. */
export async function noteImage(call: Call, { repo, digest }: StoredImage): Promise<void> {
  const [written] = await addCatalog(call.tx, digest, call.nowMs);
  if (written?.state === CATALOG_STATE.waiting) call.wake("images");
  else await noteImageChange(call, digest, repo);
}
