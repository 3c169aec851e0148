import type { KnowledgeState, StaleFeed, UnknownFindings, UnknownSummary } from "../../api/gen/vulnerabilities.ts";
import { Time } from "../../ui/time.tsx";

const WORDS: Partial<Record<KnowledgeState, string>> = {
  KNOWLEDGE_STATE_NOT_READ: "not read",
  KNOWLEDGE_STATE_NO_DATA: "no data",
  KNOWLEDGE_STATE_READ: "read",
};

/** What is known of an image, in a word or two. */
export function knowledgeWords(state: KnowledgeState): string {
  return WORDS[state] ?? "not known";
}

/** Why the findings of images are not known, with what would help. */
export function NotKnown({ images }: { images: readonly UnknownFindings[] }) {
  return images.map(({ digest, platform, state, reason, unreadFiles }) => (
    <p key={`${digest} ${reason}`} role="note">
      {state === "KNOWLEDGE_STATE_NO_DATA"
        ? `It is not known which vulnerabilities ${nameOf(platform)} has`
        : `It is not known what ${nameOf(platform)} holds`}
      : {reason}.
      {unreadFiles > 0 && ` ${unreadFiles === 1 ? "1 file" : `${unreadFiles} files`} could not be read or identified.`}{" "}
      Its state is <strong>{knowledgeWords(state)}</strong>; <code>moorage images coverage</code> lists everything that
      is not known.
    </p>
  ));
}

const nameOf = (platform: string): string => (platform === "" ? "this image" : platform);

/** Of how many images that a list goes through the findings are not known; nothing where all are. */
export function UnknownImages({ summary }: { summary: UnknownSummary | undefined }) {
  if (summary === undefined || !isAnyUnknown(summary)) return null;
  const { notRead, noData, atLeast, uncovered } = summary;
  return (
    <div role="note">
      <p>
        Nothing that is said here is about {atLeast && "at least "}
        {images(notRead + noData)}: {images(notRead)} <strong>not read</strong>, {images(noData)} with{" "}
        <strong>no data</strong>. <code>moorage findings list-unknown-images</code> lists them.
      </p>
      {uncovered.map(({ ecosystem, images: count, preset }) => (
        <p key={ecosystem}>
          No feed covers {ecosystem}, of which there are packages in {images(count)}
          {preset !== "" && (
            <>
              : <code>moorage feeds add {preset}</code> would
            </>
          )}
          .
        </p>
      ))}
    </div>
  );
}

/** Whether there is an image of which not all is known. */
export function isAnyUnknown({ notRead, noData, atLeast }: UnknownSummary): boolean {
  return notRead + noData > 0 || atLeast;
}

const images = (count: number): string => (count === 1 ? "1 image" : `${count} images`);

/** The feeds that an answer rests on and that are older than their own interval. */
export function StaleFeeds({ feeds }: { feeds: readonly StaleFeed[] }) {
  if (feeds.length === 0) return null;
  return (
    <p role="note">
      Feeds that are older than their own interval:{" "}
      {feeds.map(({ feed, successTime }, at) => (
        <span key={feed}>
          {at > 0 && ", "}
          {feed} (
          {successTime === undefined ? (
            "never read"
          ) : (
            <>
              last read <Time value={successTime} />
            </>
          )}
          )
        </span>
      ))}
      .
    </p>
  );
}
