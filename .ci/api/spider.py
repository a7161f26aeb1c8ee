"""Crawls the site of site.py: every page is an item."""

import scrapy


class Pages(scrapy.Spider):
    name = "pages"

    async def start(self):
        yield scrapy.Request(self.site + "/", self.links)

    def links(self, response):
        yield from response.follow_all(css="a", callback=self.page)

    def page(self, response):
        yield {"url": response.url, "html": response.text}
