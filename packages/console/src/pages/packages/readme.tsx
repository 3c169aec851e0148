import { useQuery } from "@tanstack/react-query";
import { Empty } from "../../ui/empty.tsx";
import { ErrorNote } from "../../ui/error-note.tsx";
import { Markdown } from "../../ui/markdown.tsx";
import { Note } from "../../ui/note.tsx";
import { readmeQuery } from "./queries.ts";

/** What a package says about itself, as its latest version that was published here has it. */
export function PackageReadme({ uid }: { uid: string }) {
  const { data, error } = useQuery(readmeQuery(uid));
  if (data === undefined) return <ErrorNote error={error} />;
  if (data.text === undefined)
    return <Empty title="Not known">Readmes are kept only of npm packages that were published here.</Empty>;
  if (data.text === "") return <Empty title="No readme" />;
  return (
    <>
      {data.cutOff === true && <Note>Cut off: only the beginning of the readme is kept.</Note>}
      <Markdown text={data.text} />
    </>
  );
}
