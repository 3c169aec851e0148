/** The progress of a step. */
export interface Progress {
  step: string;
  done: number;
  total: number;
  unit: "bytes" | "rows" | "blobs" | "pages" | "repos" | "packages";
}

/** Receives progress and notes while an installation is exported, imported, backed up, restored or checked. */
export interface Report {
  progress(progress: Progress): void;
  /** Information for the operator, in one line. */
  note(text: string): void;
}

export const SILENT: Report = { progress: () => {}, note: () => {} };
