import { userInfo } from "node:os";
import { errorCode } from "./error-code.ts";
import { probeFolder } from "./probe-folder.ts";

const MEANINGS: Readonly<Record<string, string>> = {
  EEXIST: "there is a file of that name, and no folder",
  ENOTDIR: "a part of the path is a file, and no folder",
  ENOENT: "it cannot be made there",
  EROFS: "its file system is read-only",
  ELOOP: "its symbolic links lead in a circle",
  ENAMETOOLONG: "the path is too long",
  EMFILE: "too many files are open",
  EIO: "its disk has input and output errors",
};

/** Why nothing can be written into the folder, in a few words; undefined where something can. */
export function folderProblem(folder: string): string | undefined {
  try {
    probeFolder(folder);
    return undefined;
  } catch (error) {
    return describeFolderFault(error);
  }
}

/** Why nothing can be written into a folder, and for whom, in a few words. */
export function describeFolderFault(error: unknown): string {
  const code = String(errorCode(error) ?? "");
  if (code === "EACCES" || code === "EPERM") {
    const { uid, username } = userInfo();
    return `user ${username} (${uid}) may not write there: give it the folder, as by chown ${uid}`;
  }
  const said = error instanceof Error ? error.message : String(error);
  const meaning = MEANINGS[code];
  return meaning === undefined ? said : `${meaning} (${said})`;
}
