import { commitBlob, deleteBlob, dropUploads, ensureRepository, mountBlob, startUpload } from "./blobs/commands.ts";
import { replaceCopy, restoreCopy, suspectCopy } from "./blobs/copies.ts";
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
  replaceCopy,
  restoreCopy,
  startUpload,
  suspectCopy,
] as const;
