// Imported before what stores blobs: says when a file is synced.
import fs from "node:fs";
import { syncBuiltinESMExports } from "node:module";

/** Called before and after each sync of a blob's file. */
export const syncs = { begins(): void {}, ended(): void {} };

const { fdatasync } = fs;
fs.fdatasync = ((file, done) => {
  syncs.begins();
  fdatasync(file, (error) => {
    syncs.ended();
    done(error);
  });
}) as typeof fdatasync;
syncBuiltinESMExports();
