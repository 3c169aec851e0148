import assert from "node:assert/strict";
import test from "node:test";
import { linkTo, readLinks } from "./link-header.ts";

const next = (header: string | string[]): string | undefined => linkTo("next", header);

test("the next page is found in every form that RFC 8288 allows", () => {
  for (const header of [
    "</a?n=2>; rel=next",
    '</a?n=2>; rel="next"',
    '</a?n=2>;rel="next"',
    '</a?n=2> ; rel = "next"',
    '</a?n=2>; REL="Next"',
    '</a?n=2>; rel="prev next"',
    '</a?n=2>; rel="last\tnext"',
    '</a?n=2>; title="x"; rel="next"',
    '</a?n=2>; title="a, <b>; rel=prev"; rel=next',
    '</a?n=2>; title="with \\" a quote, and ; more"; rel=next',
    '</a?n=2>; crossorigin; rel="next"',
    '</first>; rel="first", </a?n=2>; rel="next"',
    '</first>; rel="first",</a?n=2>; rel="next", </last>; rel="last"',
    ', , </a?n=2>; rel="next"',
    '</x,y;z>; rel=prev, </a?n=2>; rel="next"',
    '</about>; rel=next; anchor="/other", </a?n=2>; rel=next',
    '</a?n=2>; rel="next"; rel="prev"',
  ])
    assert.equal(next(header), "/a?n=2", header);
  assert.equal(next(['</first>; rel="first"', '</a?n=2>; rel="next"']), "/a?n=2", "several headers");
  assert.equal(next("</a?tags=x,y;z>; rel=next"), "/a?tags=x,y;z", "commas within the target");
});

test("what is not the next page is not taken for it", () => {
  for (const header of [
    "",
    "</a>",
    "</a>; rel=prev",
    '</a>; rel="nextpage"',
    '</a>; rel="prefetch-next"',
    '</a>; title="rel=next"',
    '</a>; title="x; rel=next"',
    '</a>; rel="prev"; rel="next"',
    "/a; rel=next",
    "</a; rel=next",
    '</a>; anchor="#part"; rel=next',
    '</a>; title="<b>; rel=next, ',
  ])
    assert.equal(next(header), undefined, header);
});

test("long and broken headers end, and keep what came before", () => {
  const links = readLinks(`</a>; rel=next, ${"<".repeat(100_000)}`);
  assert.deepEqual(links, [{ target: "/a", relations: ["next"], anchor: undefined }]);
  assert.equal(readLinks("</a>;rel=x,".repeat(10_000)).length, 256);
  for (const part of ["</a>;", "; ", ",", '</a>;x="', "\\", " ", '="'])
    assert.ok(readLinks(`</a>; ${part.repeat(50_000)}`).length >= 1, part);
});
