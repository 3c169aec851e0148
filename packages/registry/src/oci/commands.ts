import type { Area } from "@moorage/kernel/core/area";
import { whileFull } from "@moorage/kernel/core/command";
import { adoptBlobs } from "./blobs/adopt.ts";
import {
  commitBlob,
  deleteBlob,
  dropUploads,
  endUpload,
  ensureRepository,
  forgetEndedUploads,
  mountBlob,
  startUpload,
} from "./blobs/commands.ts";
import { replaceCopy, restoreCopy, suspectCopy } from "./blobs/copies.ts";
import { findUnrecorded, removeUnlinkedBlobs, removeUnneededBlobs, removeUnneededManifests } from "./gc/commands.ts";
import { extendGrace, renewUpload } from "./gc/grace-commands.ts";
import { deleteManifest, putManifest, removeTag } from "./manifests/commands.ts";
import { unlinkRejected } from "./manifests/rejected-push.ts";
import { makeStandInRepo } from "./stand-in-repo.ts";

/** All commands of the registry. */
export const ociCommands: NonNullable<Area["commands"]> = [
  // What frees space, and what keeps it from being freed too early.
  ...whileFull([
    deleteBlob,
    deleteManifest,
    dropUploads,
    endUpload,
    extendGrace,
    findUnrecorded,
    forgetEndedUploads,
    removeTag,
    removeUnlinkedBlobs,
    removeUnneededBlobs,
    removeUnneededManifests,
    unlinkRejected,
  ]),
  adoptBlobs,
  commitBlob,
  ensureRepository,
  makeStandInRepo,
  mountBlob,
  putManifest,
  renewUpload,
  replaceCopy,
  restoreCopy,
  startUpload,
  suspectCopy,
];
