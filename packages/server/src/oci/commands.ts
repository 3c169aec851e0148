import { commitBlob, deleteBlob, dropUploads, ensureRepository, mountBlob, startUpload } from "./blobs/commands.ts";
import { findUnrecorded, removeUnlinkedBlobs, removeUnneededBlobs, removeUnneededManifests } from "./gc/commands.ts";
import { extendGrace, renewUpload } from "./gc/grace-commands.ts";
import { deleteManifest, putManifest, removeTag } from "./manifests/commands.ts";

/** All commands of the registry. */
export const ociCommands = [
  commitBlob,
  deleteBlob,
  deleteManifest,
  dropUploads,
  ensureRepository,
  extendGrace,
  findUnrecorded,
  mountBlob,
  putManifest,
  removeTag,
  removeUnlinkedBlobs,
  removeUnneededBlobs,
  removeUnneededManifests,
  renewUpload,
  startUpload,
] as const;
