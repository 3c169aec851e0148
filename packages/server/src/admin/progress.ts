/** How far a step has come. */
export interface Progress {
  step: string;
  done: number;
  total: number;
  unit: "bytes" | "rows" | "blobs" | "pages";
}

/** Who is told while something is moved. */
export interface Report {
  progress(progress: Progress): void;
  /** Something to know, in one line. */
  note(text: string): void;
}

export const SILENT: Report = { progress: () => {}, note: () => {} };
