// Where the menu of a study is wider than the screen, it opens at the page one is on.
const menu = document.querySelector(".topbar nav");
const here = menu?.querySelector("[aria-current]");

if (here) {
  const [outer, inner] = [menu, here].map((node) => node.getBoundingClientRect());
  menu.scrollLeft += inner.left - outer.left - (outer.width - inner.width) / 2;
}
