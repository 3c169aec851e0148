import type { MirrorPlace } from "./commands.ts";
import type { Source } from "./sources.ts";

/** The source of a repo that is pulled through, and the place that its content is copied to. */
export interface PullSource extends Source {
  place: MirrorPlace;
}
